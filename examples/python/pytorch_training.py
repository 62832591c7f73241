"""PyTorch: a small network learns which quadrant a point is in."""
import torch

torch.manual_seed(0)
device = torch.device("cuda")
print("on", torch.cuda.get_device_name(device))
points = torch.rand(512, 2, device=device) * 2 - 1
quadrants = (points[:, 0] > 0).long() + 2 * (points[:, 1] > 0).long()
model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(101):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(points), quadrants)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        right = (model(points).argmax(1) == quadrants).float().mean().item()
        print(f"epoch {epoch:3}: loss {loss.item():.3f}, {100 * right:.1f} % right")
